"""Records what nvidia-smi and NVML say of this machine's GPUs, for the tests of monitoring, while something runs on them."""

import ctypes
import json
import shutil
import subprocess
import time

from processes import Failed, TimeLimit, call

FIELDS = "index,uuid,name,pci.bus_id,driver_version,compute_cap,memory.used,memory.total,memory.free,utilization.gpu,temperature.gpu,power.draw,persistence_mode,mig.mode.current"
NOT_TOLD = 2**64 - 1


class MemoryV2(ctypes.Structure):
    _fields_ = [("version", ctypes.c_uint), *((name, ctypes.c_ulonglong) for name in ("total", "reserved", "free", "used"))]


class Utilization(ctypes.Structure):
    _fields_ = [("gpu", ctypes.c_uint), ("memory", ctypes.c_uint)]


class ProcessInfo(ctypes.Structure):
    _fields_ = [("pid", ctypes.c_uint), ("usedGpuMemory", ctypes.c_ulonglong), ("gpuInstanceId", ctypes.c_uint), ("computeInstanceId", ctypes.c_uint)]


class Nvml:
    """The calls that native/agent/figures/gpu.cpp makes, with their return codes."""

    def __init__(self):
        try:
            self.library = ctypes.CDLL("libnvidia-ml.so.1")
        except OSError as error:
            raise Failed(f"NVML was not found: {error}") from error
        code = self.library.nvmlInit_v2()
        if code != 0:
            raise Failed(f"nvmlInit_v2 returned {code}")

    def text(self, function, device):
        buffer = ctypes.create_string_buffer(96)
        return {"code": function(device, buffer, ctypes.c_uint(96)), "value": buffer.value.decode()}

    def number(self, function, *arguments):
        value = ctypes.c_uint()
        return {"code": function(*arguments, ctypes.byref(value)), "value": value.value}

    def sample(self):
        count = ctypes.c_uint()
        code = self.library.nvmlDeviceGetCount_v2(ctypes.byref(count))
        return {"time": time.time(), "nvmlDeviceGetCount_v2": {"code": code, "value": count.value},
                "devices": [self.one(index) for index in range(count.value)]}

    def one(self, index):
        lib, device = self.library, ctypes.c_void_p()
        found = {"nvmlDeviceGetHandleByIndex_v2": {"code": lib.nvmlDeviceGetHandleByIndex_v2(ctypes.c_uint(index), ctypes.byref(device))}}
        found["nvmlDeviceGetUUID"] = self.text(lib.nvmlDeviceGetUUID, device)
        found["nvmlDeviceGetName"] = self.text(lib.nvmlDeviceGetName, device)
        memory = MemoryV2()
        memory.version = ctypes.sizeof(MemoryV2) | (2 << 24)
        code = lib.nvmlDeviceGetMemoryInfo_v2(device, ctypes.byref(memory))
        found["nvmlDeviceGetMemoryInfo_v2"] = {"code": code, **{name: getattr(memory, name) for name, _ in MemoryV2._fields_}}
        busy = Utilization()
        code = lib.nvmlDeviceGetUtilizationRates(device, ctypes.byref(busy))
        found["nvmlDeviceGetUtilizationRates"] = {"code": code, "gpu": busy.gpu, "memory": busy.memory}
        found["nvmlDeviceGetTemperature"] = self.number(lib.nvmlDeviceGetTemperature, device, ctypes.c_uint(0))
        found["nvmlDeviceGetPowerUsage"] = self.number(lib.nvmlDeviceGetPowerUsage, device)
        processes, held = (ProcessInfo * 64)(), ctypes.c_uint(64)
        code = lib.nvmlDeviceGetComputeRunningProcesses_v3(device, ctypes.byref(held), processes)
        found["nvmlDeviceGetComputeRunningProcesses_v3"] = {
            "code": code,
            "processes": [{"pid": p.pid, "usedGpuMemory": None if p.usedGpuMemory == NOT_TOLD else p.usedGpuMemory} for p in processes[: held.value]],
        }
        return found


# Of cudnn_graph.h.
DEVICEPROP_DESCRIPTOR, DEVICE_ID, JSON_REPRESENTATION, INT32, CHAR = 38, 2700, 2702, 23, 24


def cudnn_properties(library):
    """What cuDNN knows of GPU 0, as JSON: with it, plans can be made where there is no GPU (native/tests/cuda/gpus)."""
    cudnn, descriptor, index, length = ctypes.CDLL(str(library)), ctypes.c_void_p(), ctypes.c_int32(0), ctypes.c_int64()

    def ask(call_name, *arguments):
        code = getattr(cudnn, call_name)(*arguments)
        if code != 0:
            raise Failed(f"{call_name} returned {code} for the GPU's properties")

    ask("cudnnBackendCreateDescriptor", DEVICEPROP_DESCRIPTOR, ctypes.byref(descriptor))
    try:
        ask("cudnnBackendSetAttribute", descriptor, DEVICE_ID, INT32, ctypes.c_int64(1), ctypes.byref(index))
        ask("cudnnBackendFinalize", descriptor)
        ask("cudnnBackendGetAttribute", descriptor, JSON_REPRESENTATION, CHAR, ctypes.c_int64(0), ctypes.byref(length), None)
        text = ctypes.create_string_buffer(length.value + 1)
        ask("cudnnBackendGetAttribute", descriptor, JSON_REPRESENTATION, CHAR, length, ctypes.byref(length), text)
    finally:
        cudnn.cudnnBackendDestroyDescriptor(descriptor)
    return json.loads(text.value)


def record(folder, load, limit):
    """Into folder: nvidia-smi's outputs, and NVML's answers twice a second while the command `load` runs. Returns
    figures of it: how many samples, and which of nvidia-smi's further queries failed on this machine."""
    if shutil.which("nvidia-smi") is None:
        raise Failed("nvidia-smi was not found on PATH")
    folder.mkdir(parents=True, exist_ok=True)
    nvml, samples, figures = Nvml(), [], {}
    samples.append(nvml.sample())
    running = subprocess.Popen([str(word) for word in load["command"]], env=load["env"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    outputs = {"nvidia-smi.txt": [], "nvidia-smi-q.xml": ["-q", "-x"], "nvidia-smi.csv": [f"--query-gpu={FIELDS}", "--format=csv"],
               "nvidia-smi-apps.csv": ["--query-compute-apps=pid,process_name,used_memory,gpu_uuid", "--format=csv"],
               "nvidia-smi-topology.txt": ["topo", "-m"]}
    try:
        time.sleep(4)
        for name, words in outputs.items():
            try:
                text = call(["nvidia-smi", *words], limit.left())
            except TimeLimit:
                raise
            except Failed as failure:
                if not words:
                    raise
                text = str(failure)
                figures[f"nvidia-smi {' '.join(words)}"] = text.splitlines()[0]
            (folder / name).write_text(text)
            samples.append(nvml.sample())
        while running.poll() is None and len(samples) < 60:
            samples.append(nvml.sample())
            time.sleep(0.5)
        complaint = running.communicate(timeout=limit.left())[1]
    except subprocess.TimeoutExpired as late:
        raise TimeLimit("what ran beside the recording did not end") from late
    finally:
        running.kill()
        running.wait()
    samples.append(nvml.sample())
    (folder / "nvml.json").write_text(json.dumps(samples, indent=1) + "\n")
    if running.returncode != 0:
        raise Failed(f"what ran beside the recording ended with {running.returncode}: {complaint[-2000:]}")
    return {"samples of NVML": str(len(samples))} | figures
