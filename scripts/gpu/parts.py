"""The parts of the proof: what each does, and for how long it may."""

import dataclasses
import json
import os

import recordings
import sanitizer
from processes import Failed, NotHere, TimeLimit, call, run
from tools import ROOT

# In the order in which they run: what says most comes first. Seconds that a part may take on a GPU: several times
# what is expected of it.
LIMITS = {
    "build": 420,
    "devices": 60,
    "ops": 120,
    "networks": 60,
    "precisions": 60,
    "recorded": 240,
    "optimizers": 60,
    "speed": 180,
    "kernels": 90,
    "pytorch": 180,
    "repeats": 60,
    "resume": 60,
    "evaluation": 60,
    "averages": 60,
    "two-processes": 60,
    "collectives": 60,
    "jpeg-decoder": 60,
    "memory-growth": 90,
    "batch-that-fits": 120,
    "out-of-memory": 60,
    "recordings": 90,
    "properties": 30,
    "memcheck": 90,
    "synccheck": 90,
    "racecheck": 90,
}
# What a rehearsal's processor takes of a GPU's time at most.
SLOWER = {"cuda": 1, "cpu": 5}
TORCH_STEPS = {"cuda": ["resnet50", 224, 32, 100, 10], "cpu": ["resnet18", 32, 4, 10, 3]}  # model, pixels, batch, classes, steps


class Parts:
    """Each part fills in its entry of the report, within a Limit."""

    def __init__(self, out, device, torch, program, environment, tools):
        self.out, self.device, self.torch = out, device, torch
        self.program, self.environment, self.tools = program, environment, tools

    def run(self, name, entry, limit):
        own = {"pytorch": self.pytorch, "recordings": self.recordings, "properties": self.properties}
        if name in sanitizer.OPTIONS:
            return self.sanitized(name, entry, limit)
        if name not in own:
            return self.of_program([self.program, name, self.device], entry, limit)
        if self.tools is None:
            raise NotHere("a stand-in takes the program's place")
        return own[name](entry, limit)

    def of_program(self, command, entry, limit):
        """Runs native/proof. Throws as read() does."""
        self.read(run(command, limit.left(), self.environment), entry)

    def read(self, ended, entry):
        """What native/proof printed (native/proof/report.h), into the entry; what it printed before it was stopped
        counts too. Throws TimeLimit, NotHere and Failed."""
        fields = [line.split("\t") for line in ended.out.splitlines()]
        said = lambda kind: [f[1:] for f in fields if f[0] == kind and len(f) > 1]
        entry["results"] = [dict(zip(("what", "quantity", "error", "bound", "verdict"), f)) for f in said("result") if len(f) == 5]
        entry.setdefault("figures", {}).update({f[0]: f[1] for f in said("figure") if len(f) == 2})
        wrong = [f"{r['what']}, {r['quantity']}: {r['error']} (bound {r['bound']})" for r in entry["results"] if r["verdict"] != "ok"]
        if ended.code is None:
            raise TimeLimit("\n".join(wrong) or f"until then it printed: {ended.out[-1000:]}{ended.err[-1000:]}")
        if ended.code == 0 and not wrong and said("not here"):
            raise NotHere(said("not here")[0][0])
        errors = [f[0] for f in said("error")]
        if ended.code != 0 or wrong or errors:
            raise Failed("\n".join(errors + wrong) or f"ended with {ended.code}: {ended.out[-2000:]}{ended.err[-2000:]}")

    def pytorch(self, entry, limit):
        """Our steps, repeated by PyTorch: from its float64 we are at most twice as far as its own fp32."""
        try:
            call([self.torch, "-c", "import torch, torchvision"], limit.left())
        except TimeLimit:
            raise
        except (Failed, OSError) as failure:
            last = str(failure).splitlines()[-1]
            raise NotHere(f"PyTorch with torchvision is not in {self.torch} ({last})") from failure
        folder = self.out / "steps"
        folder.mkdir(exist_ok=True)
        model, *numbers = TORCH_STEPS[self.device]
        call([self.program, "steps", self.device, folder, model, *numbers], limit.left(), self.environment)
        said = json.loads(call([self.torch, ROOT / "scripts/gpu/torch_steps.py", folder, model, self.device], limit.left()))
        entry["figures"] = {"PyTorch": said["torch"], "steps": f"{said['steps']} of {model}, loss {said['loss'][0]:.4f} to {said['loss'][-1]:.4f}"}
        entry["results"] = [
            {"what": f"{model} beside PyTorch in float64", "quantity": row["quantity"], "error": f"{row['ours']:.3g}",
             "bound": f"{2 * row['theirs']:.3g}", "verdict": "ok" if row["ours"] <= 2 * row["theirs"] else "wrong"}
            for row in said["rows"]
        ]
        wrong = [f"{r['quantity']}: {r['error']} (bound {r['bound']})" for r in entry["results"] if r["verdict"] != "ok"]
        if wrong:
            raise Failed("\n".join(wrong))

    def recordings(self, entry, limit):
        """What nvidia-smi and NVML say of this machine's GPUs while one of them works."""
        self.need_gpu()
        load = {"command": [self.program, "bench", self.device, "resnet50", 224, 64, "bf16", 300], "env": self.environment}
        entry["figures"] = recordings.record(self.out / "recorded", load, limit)

    def properties(self, entry, _limit):
        """What cuDNN says of the GPU."""
        self.need_gpu()
        found = recordings.cudnn_properties(self.tools["cudnn"] / "libcudnn.so.9")
        (self.out / "recorded").mkdir(exist_ok=True)
        file = self.out / "recorded" / f"sm_{found['deviceVer'] // 10}.json"
        file.write_text(json.dumps(found, indent=2) + "\n")
        entry["figures"] = {file.name: "to take the place of the file of that name in native/tests/cuda/gpus"}

    def need_gpu(self):
        if self.device == "cpu":
            raise NotHere("there is no GPU to ask")

    def sanitized(self, tool, entry, limit):
        """The ops once more, a tool of compute-sanitizer looking on."""
        command = sanitizer.command_of(tool, self.device)
        untied = sanitizer.environment_of(self.environment or os.environ)
        if sanitizer.OPTIONS[tool]:
            entry["figures"] = {"left out": f"kernels of NVIDIA's libraries, and those with {sanitizer.BY_TMA} in their names, which copy by TMA"}
        ended = run([*command, self.program, "ops", self.device], limit.left(), untied)
        said = ended.out + ended.err
        fault, found = sanitizer.fault_of(said), sanitizer.finds(said)
        # The ops were not watched to their end, which says nothing of them: the tool's fault ends the program's use of
        # the GPU, and the program says so as its own error. What was found until then is a failure.
        broke_off = fault is not None and ended.code is not None and not found
        if broke_off:
            kept = [line for line in ended.out.splitlines() if not line.startswith("error\t")]
            ended = dataclasses.replace(ended, code=0, out="\n".join(kept))
        try:
            self.read(ended, entry)
        except TimeLimit as hit:
            if tool not in sanitizer.UNBOUNDED or found or any(result["verdict"] != "ok" for result in entry["results"]):
                raise
            raise NotHere(f"{tool} was not done after {limit.seconds:g} s, and had found nothing until then") from hit
        if broke_off:
            raise NotHere(f"{tool} ended within itself: {fault}")
