"""The tables of bench:gpu, made of its rows."""

# Beside what a batch's rate is judged, and how many times as fast it is to be.
AIMS = {32: ("PyTorch eager", 1.5), 64: ("the better of both", 1.3), 256: ("the better of both", 1.3)}
PEERS = ("PyTorch eager", "PyTorch compile")
REAL_IMAGES = {"trainyard, real images": "ours on a fixed batch, real images", "trainyard, real images by nvJPEG": "ours on a fixed batch, real images by nvJPEG"}


def pieces(row):
    """How many recorded graphs a step of ours was launched as."""
    count = row.get("recorded_graphs")
    return "" if count is None else "0: op by op" if count == 0 else str(count)


def line_of(row):
    begin = f"| {row['precision']} | {row['batch']} | {row['program']} | "
    if "failure" in row:
        return begin + f"failed: {(row['failure'].splitlines() or [''])[-1]} | | | | | |"
    memory = "not known" if row["memory_mib"] is None else row["memory_mib"]
    return begin + (f"{row['images_per_sec']:.0f} | {row['step_ms']:.2f} | {row['images']} | {pieces(row)} | {memory} | "
                    f"{row['start_seconds']:.1f} |")


def fate(name, group):
    """Why there is no rate of a program."""
    return f"{name} failed" if any(row["program"] == name for row in group) else f"{name} was not measured"


def peer_of(group, rates, beside):
    """The rate that ours is divided by, in words, and whether it is the one of the aim. None without any."""
    measured = [name for name in PEERS if name in rates]
    if not measured:
        return None
    best = max(measured, key=rates.get)
    if beside == "the better of both":
        if len(measured) == len(PEERS):
            return best, f"the better of both, {best}", True
        return best, "; ".join([f"{best} alone", *(fate(name, group) for name in PEERS if name not in rates)]), False
    if beside in rates:
        return beside, beside, True
    return best, f"{best} alone; {fate(beside, group)}", False


def ratios(rows):
    """Ours over PyTorch's, for each precision and batch, beside the aim where the aim speaks of that peer."""
    lines = []
    for precision, batch in dict.fromkeys((row["precision"], row["batch"]) for row in rows):
        group = [row for row in rows if (row["precision"], row["batch"]) == (precision, batch)]
        rates = {row["program"]: row["images_per_sec"] for row in group if "failure" not in row}
        begin = f"| {precision} | {batch} | "
        if "trainyard" not in rates:
            lines.append(begin + f"nothing: {fate('trainyard', group)} | | |")
            continue
        beside, aim = AIMS.get(batch, ("the better of both", 1.3))
        peer = peer_of(group, rates, beside)
        if peer is None:
            lines.append(begin + "nothing: " + ", ".join(fate(name, group) for name in PEERS) + " | | |")
        else:
            name, words, judged = peer
            lines.append(begin + f"{words} | {rates['trainyard'] / rates[name]:.2f} | {aim if judged else 'none: of another peer'} |")
        for program, words in REAL_IMAGES.items():
            if program in rates:
                lines.append(begin + f"{words} | {rates[program] / rates['trainyard']:.2f} | 0.95 |")
    return lines


def state(report):
    if report["finished"]:
        failed = sum("failure" in row for row in report["rows"])
        return f"All rows that were asked for are here{f'; **{failed} failed**' if failed else ''}."
    words = ["**Not finished.**"]
    if report["running"] is not None:
        words.append(f"`{report['running']}` was running when this was written, at {report['updated']}.")
    if report["left_out"]:
        words.append(f"Left out: {'; '.join(report['left_out'])}. To go on: `{report['go_on']}`")
    return " ".join(words)


def markdown(report):
    lines = [f"# Training steps on a GPU, {report['date']}", "", state(report), ""]
    lines += [f"Model: {report['model']} of {report['size']} pixels; device: {report['device']}; ours: {report['ours']}.", ""]
    lines += ["| | |", "|---|---|"] + [f"| {name} | {text} |" for name, text in report["versions"].items()] + [""]
    lines += ["| precision | batch | program | images/s | ms a step | images | recorded graphs | MiB of GPU memory | seconds to the first step |"]
    lines += ["|---|---|---|---|---|---|---|---|---|"] + [line_of(row) for row in report["rows"]] + [""]
    lines += ["| precision | batch | ours beside | times as fast | aim |", "|---|---|---|---|---|"] + ratios(report["rows"])
    notes = [f"- {row['program']}, {row['precision']}, batch {row['batch']}: {note}" for row in report["rows"] for note in row.get("notes", [])]
    return "\n".join(lines + (["", "What the programs said of another way that they took:", "", *notes] if notes else [])) + "\n"
