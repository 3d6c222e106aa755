"""The proof's outcome as a table, and the versions of all that took part."""

import platform

from processes import Failed, call


def versions(tools):
    found = {"python": platform.python_version(), "system": platform.platform()}
    queries = {"nvcc": [tools["nvcc"] if tools else "nvcc", "--version"], "g++": ["g++", "--version"],
               "gpu": ["nvidia-smi", "--query-gpu=name,driver_version,memory.total", "--format=csv,noheader"]}
    for name, command in queries.items():
        try:
            lines = [line for line in call(command, 60).splitlines() if line.strip()]
            found[name] = (lines[-1] if name == "nvcc" else lines[0]).strip()
        except (Failed, OSError) as failure:
            found[name] = f"not found ({type(failure).__name__})"
    return found


def outcome(part):
    if part["ok"]:
        return "ok"
    return "not shown" if "why_not" in part else "**stopped at its limit**" if "time_limit" in part else "**failed**"


def state(report):
    """Whether this is the whole proof, and what to do where it is not."""
    if report["finished"]:
        return ["All parts have run: " + ("everything holds." if report["ok"] else "**not everything holds.**")]
    shown, known = len(report["parts"]), len(report["parts"]) + len(report["not_shown"])
    lines = [f"**Not finished**: {shown} of {known} parts have run. Without: {', '.join(report['not_shown']) or 'none'}."]
    if report["running"] is not None:
        lines.append(f"`{report['running']}` was running when this was written, at {report['updated']}.")
    lines += [f"Left out: `{left['part']}`: {left['why']}." for left in report["left_out"]]
    if report["go_on"] is not None:
        lines.append(f"To go on: `{report['go_on']}`")
    return lines


def largest_share(results):
    """The largest error, as a share of its bound."""
    shares = [float(r["error"]) / float(r["bound"]) for r in results if float(r["bound"]) > 0]
    return f"{max(shares):.2g}" if shares else ""


def markdown(report):
    lines = [f"# GPU proof, {report['date']}", ""] + [text + "  " for text in state(report)] + [""]
    if report["program"] is not None:
        lines += [f"**A stand-in, {report['program']}, took the program's place: this says nothing of any device.**", ""]
    lines += ["| | |", "|---|---|", f"| device | {report['device']} |", f"| sources | {report['sources']} |"]
    lines += [f"| {name} | {text} |" for name, text in report["versions"].items()] + [""]
    lines += ["| part | outcome | seconds | results | largest error / bound |", "|---|---|---|---|---|"]
    for part in report["parts"]:
        results = part.get("results", [])
        lines.append(f"| {part['part']} | {outcome(part)} | {part['seconds']} | {len(results) or ''} | {largest_share(results)} |")
    figures = [(part["part"], name, text) for part in report["parts"] for name, text in part.get("figures", {}).items()]
    figures += [(part["part"], "not shown", part["why_not"]) for part in report["parts"] if "why_not" in part]
    lines += ["", "| part | figure | |", "|---|---|---|"] + [f"| {p} | {name} | {text} |" for p, name, text in figures]
    for part in report["parts"]:
        if "failure" in part:
            lines += ["", f"## {part['part']} failed", "```", part["failure"], "```"]
    return "\n".join(lines) + "\n"
