// What a node with another glibc is made of: packages of Ubuntu's releases of 2018 and 2024, pinned
// by hash and unpacked into the user's cache. They are of the first day of their release, so that
// they stay in its archive.
import { createHash } from 'node:crypto';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { cachedTree } from '../lib/debPackages.mjs';
import { capture, run } from '../lib/shell.mjs';

const archive = 'http://archive.ubuntu.com/ubuntu/pool/main/';
/** apt's own client for one file: it obeys apt's proxies and compares the hash. */
const aptHelper = '/usr/lib/apt/apt-helper';

/** By place in the archive, with their SHA-256. */
const newer = {
  'g/glibc/libc6_2.39-0ubuntu8_amd64.deb': 'af36c7ac770770fe3d3c10e85d6bc538e76e57570ba7db7d397fb9f654783ef3',
};
const older = {
  'b/base-files/base-files_10.1ubuntu2_amd64.deb':
    '81d5fa6a8c31b739299552338ee1d1a7efe4b302702d157f3b67389bc1a948aa',
  'b/bash/bash_4.4.18-2ubuntu1_amd64.deb': '5895e980d1fc874906d27823ab31eeb65cfe1d059936b9d6d304bfee02c8995c',
  'd/dash/dash_0.5.8-2.10_amd64.deb': '51fe28b98b8e023325ae8868f29807cdb53f6f2eac943723b5e6bd47cde0cb2c',
  'e/expat/libexpat1_2.2.5-3_amd64.deb': '202db01e1b4204b6e34e44b4f4a6ba6b3928089c2fa728db86e13cd4b8548191',
  'g/gcc-8/libgcc1_8-20180414-1ubuntu2_amd64.deb':
    'c5a6df527fdfe0da45ff0538414535a04a6753e93a9f5902689cf1a73265423b',
  'g/gcc-8/libgomp1_8-20180414-1ubuntu2_amd64.deb':
    '9c9a6ce568a81d1ca8d8bad70fa1a05a7481800a2face261093a74a823cb3964',
  'g/glibc/libc-bin_2.27-3ubuntu1_amd64.deb':
    'a6bdba8c127b40f2942c414105a9fa1cc851a3c41ca55df72c3f7c0189ea0516',
  'g/glibc/libc6_2.27-3ubuntu1_amd64.deb': '1e1eb86fd646aa68f7144ec692b837b6b352d215880c6a2d0c92c19d36938427',
  'libf/libffi/libffi6_3.2.1-8_amd64.deb': 'fa26945b0aadfc72ec623c68be9cc59235a7fe42e2388f7015fd131f4fb06dc9',
  'n/ncurses/libtinfo5_6.1-1ubuntu1_amd64.deb':
    '450bf945387029bee91d8eea76deacb8df907a1f6641fbce388933d1fdfb5a0d',
  'p/python3-defaults/python3-minimal_3.6.5-3_amd64.deb':
    '8a0d89bb2a9d630927444948391e3fe921c2ac4f4e63934155af80436d0995fa',
  'p/python3.6/libpython3.6-minimal_3.6.5-3_amd64.deb':
    'ce512b47c542886ab93a2667f6ea90edfa063eb0bc5d6a9ac782dfa44e201be2',
  'p/python3.6/libpython3.6-stdlib_3.6.5-3_amd64.deb':
    'ff164729742f8e8cfc1024d6b62d9d7dff64761a0a83ed6028e44dc6dfa6a618',
  'p/python3.6/python3.6-minimal_3.6.5-3_amd64.deb':
    'a033297a970487552f82a210df18b206ddc465627e68ddcbad2603818083d946',
  'z/zlib/zlib1g_1.2.11.dfsg-0ubuntu2_amd64.deb':
    '2e6dafb986ee8ebbc4e1c344fab090a41710cab878fc9cd89336cdd1740518c5',
};

/** The archive cannot be reached, or has other files. */
class NotFetched extends Error {}

/**
 * The folder with these packages, made once on a machine. An error names the program that failed.
 * @param {string} name
 * @param {Record<string, string>} packages
 */
function unpacked(name, packages) {
  const list = createHash('sha256').update(JSON.stringify(packages)).digest('hex').slice(0, 8);
  return cachedTree(`${name}-${list}`, (tree) => {
    const deb = join(tree, 'deb');
    for (const [place, sha256] of Object.entries(packages)) {
      const asked = ['-o', 'APT::Sandbox::User=root', 'download-file', archive + place, deb];
      const got = capture(aptHelper, [...asked, `SHA256:${sha256}`]);
      if (!got.ok) throw new NotFetched(`apt-helper cannot fetch ${archive}${place}: ${got.stderr.trim()}`);
      run('dpkg', ['-x', deb, tree]);
      rmSync(deb);
    }
  });
}

/**
 * Why neither can be had on this machine; undefined where both are in the cache now.
 * @returns {string | undefined}
 */
export function whyNoOtherGlibc() {
  try {
    ensureNewerGlibc();
    ensureOlderSystem();
    return undefined;
  } catch (error) {
    if (error instanceof NotFetched) return error.message;
    throw error;
  }
}

/** glibc 2.39 alone: what stands over the libraries of a Debian with an older one. */
export const ensureNewerGlibc = () => unpacked('glibc-2.39', newer);

/** A small Ubuntu 18.04 for chroot, with glibc 2.27 and Python 3.6. */
export const ensureOlderSystem = () => unpacked('ubuntu-18.04', older);
