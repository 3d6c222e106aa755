// The reader of machine code behind `npm run cuda:audit`, on a listing in cuobjdump's form.
import { expect, it } from 'vitest';
import { hotLoop, kernelsOf, registersOf, tally } from '../../scripts/native/sass.mjs';

const listing = `
Fatbin elf code:
================
arch = sm_90
code version = [1,8]

	code for sm_90
		Function : _Zsum
	.headerflags	@"EF_CUDA_SM90"
        /*0000*/                   LDC R1, c[0x0][0x28] ;                            /* 0x00000a00ff017b82 */
        /*0010*/                   LDG.E.128 R8, desc[UR6][R24.64] ;                 /* 0x0000000618087981 */
        /*0020*/                   LDG.E.U8 R9, desc[UR6][R26.64] ;                  /* 0x000000061a097981 */
        /*0030*/                   IMAD.U32 R81, R8, 0x10000, RZ ;                   /* 0x0001000008517824 */
        /*0040*/               @P0 IADD3 R8, R8, 0x1, RZ ;                           /* 0x0000000108080810 */
        /*0050*/                   DADD R2, R2, R4 ;                                 /* 0x0000000002027229 */
        /*0060*/                   STG.E.128 desc[UR6][R24.64], R8 ;                 /* 0x0000000818007986 */
        /*0070*/              @!P1 BRA 0x10 ;                                        /* 0xfffffffc00e49947 */
        /*0080*/                   LDG.E.128.STRONG.GPU R8, desc[UR6][R24.64] ;      /* 0x0000000618087981 */
        /*0090*/                   LDG.E.128.STRONG.GPU R8, desc[UR6][R24.64] ;      /* 0x0000000618087981 */
        /*00a0*/                   LDG.E.128.STRONG.GPU R8, desc[UR6][R24.64] ;      /* 0x0000000618087981 */
        /*00b0*/              @!P1 BRA 0x80 ;                                        /* 0xfffffffc00e49947 */
        /*00c0*/                   STL [R1], R8 ;                                    /* 0x0000000801007387 */
        /*00d0*/                   EXIT ;                                            /* 0x000000000000794d */
        /*00e0*/                   BRA 0xe0;                                         /* 0xfffffffc00fc7947 */
`;

it('finds the loop that loads, without the end of a kernel', () => {
  const [kernel] = kernelsOf(listing);
  if (!kernel) throw new Error('no kernel was found');
  expect(kernel).toMatchObject({ name: '_Zsum', arch: 'sm_90' });
  expect(kernel.instructions).toHaveLength(15);
  expect(tally(hotLoop(kernel))).toEqual({
    instructions: 7,
    wideLoads: 1,
    narrowLoads: 1,
    wideStores: 1,
    narrowStores: 0,
    local: 0,
    integers: 2,
    doubles: 1,
  });
  expect(tally(kernel.instructions).local).toBe(1);
});

it('knows the registers of each kernel on each GPU', () => {
  const said = `
arch = sm_80
 Function _Zsum:
  REG:40 STACK:0 SHARED:32776 LOCAL:0 CONSTANT[0]:380 TEXTURE:0 SURFACE:0 SAMPLER:0
arch = sm_90
 Function _Zsum:
  REG:106 STACK:0 SHARED:32776 LOCAL:0 CONSTANT[0]:556 TEXTURE:0 SURFACE:0 SAMPLER:0
`;
  const registers = registersOf(said);
  expect(registers.get('sm_80 _Zsum')).toBe(40);
  expect(registers.get('sm_90 _Zsum')).toBe(106);
});

it("reads Volta's, whose accesses end in .SYS", () => {
  const [kernel] = kernelsOf(`
arch = sm_70
	code for sm_70
		Function : _Zcopy
	.headerflags	@"EF_CUDA_SM70 EF_CUDA_PTX_SM(EF_CUDA_SM70)"
        /*0000*/                   IMAD.MOV.U32 R1, RZ, RZ, c[0x0][0x28] ;             /* 0x00000a00ff017624 */
        /*0010*/                   LDG.E.128.SYS R16, [R24] ;                          /* 0x0000000018107381 */
        /*0020*/              @!P0 LDG.E.SYS R18, [R18] ;                              /* 0x0000000012128381 */
        /*0030*/                   STG.E.128.SYS [R28], R16 ;                          /* 0x000000101c007386 */
        /*0040*/              @!P1 BRA 0x10 ;                                          /* 0xffffffc000009947 */
        /*0050*/                   EXIT ;                                              /* 0x000000000000794d */
`);
  if (!kernel) throw new Error('no kernel was found');
  expect(kernel.arch).toBe('sm_70');
  expect(tally(hotLoop(kernel))).toMatchObject({
    instructions: 4,
    wideLoads: 1,
    narrowLoads: 1,
    wideStores: 1,
    narrowStores: 0,
    local: 0,
  });
});
