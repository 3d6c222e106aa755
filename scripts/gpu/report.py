"""The proof's outcome as a table, and the versions of all that took part."""

import platform

from tools import Failed, call


def versions(tools):
    found = {"python": platform.python_version(), "system": platform.platform()}
    queries = {"nvcc": [tools["nvcc"] if tools else "nvcc", "--version"], "g++": ["g++", "--version"],
               "gpu": ["nvidia-smi", "--query-gpu=name,driver_version,memory.total", "--format=csv,noheader"]}
    for name, command in queries.items():
        try:
            lines = [line for line in call(command).splitlines() if line.strip()]
            found[name] = (lines[-1] if name == "nvcc" else lines[0]).strip()
        except (Failed, OSError) as failure:
            found[name] = f"not found ({type(failure).__name__})"
    return found


def outcome(part):
    return "ok" if part["ok"] else "not shown" if "why_not" in part else "**failed**"


def markdown(report):
    lines = [f"# GPU proof, {report['date']}", "", f"Device: {report['device']}", ""]
    lines += ["| | |", "|---|---|"] + [f"| {name} | {text} |" for name, text in report["versions"].items()] + [""]
    lines += ["| part | outcome | seconds | results | largest error / bound |", "|---|---|---|---|---|"]
    for part in report["parts"]:
        results = part.get("results", [])
        shares = [float(r["error"]) / float(r["bound"]) for r in results if float(r["bound"]) > 0]
        largest = f"{max(shares):.2g}" if shares else ""
        lines.append(f"| {part['part']} | {outcome(part)} | {part['seconds']} | {len(results) or ''} | {largest} |")
    figures = [(part["part"], name, text) for part in report["parts"] for name, text in part.get("figures", {}).items()]
    figures += [(part["part"], "not shown", part["why_not"]) for part in report["parts"] if "why_not" in part]
    lines += ["", "| part | figure | |", "|---|---|---|"] + [f"| {p} | {name} | {text} |" for p, name, text in figures]
    for part in report["parts"]:
        if "failure" in part:
            lines += ["", f"## {part['part']} failed", "```", part["failure"], "```"]
    return "\n".join(lines) + "\n"
