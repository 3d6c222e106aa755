# This machine's NVIDIA driver and GPUs, read without asking a driver that may hang. The set-up
# program has this file, and the job of a run by Slurm imports it. Python 3.6 and newer.
import os


def driver_version():
    try:
        with open("/proc/driver/nvidia/version") as file:
            words = file.readline().split()
    except OSError:
        return None
    return next((word for word in words if word[:1].isdigit() and "." in word), None)


def nvidia_gpus():
    """The PCI device number of each of NVIDIA's GPUs, four hex digits: what they are."""
    import glob

    found = []
    for device in sorted(glob.glob("/sys/bus/pci/devices/*")):
        said = []
        for name in ("vendor", "class", "device"):
            try:
                with open(os.path.join(device, name)) as file:
                    said.append(file.read().strip().lower())
            except OSError:
                pass
        if len(said) == 3 and said[0] == "0x10de" and said[1].startswith("0x03"):
            found.append(said[2].replace("0x", ""))
    return found
