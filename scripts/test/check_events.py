"""Prints what TensorBoard's own reader finds in a log folder, as one JSON object:

    {"runs": {"train": {"scalars": {"loss": {"steps": [10, 20], "values": [1.5, 1.25]}}, "texts": ["notes"],
                        "graph": true, "graph_nodes": 41}}}

A value that is no finite number is null. Runs with the runtime's Python: check_events.py LOGDIR
"""
import json
import math
import os
import sys

from tensorboard.backend.event_processing import event_accumulator, io_wrapper
from tensorboard.compat.proto import graph_pb2

EVERYTHING = {"scalars": 0, "tensors": 0, "images": 0, "audio": 0, "histograms": 0, "compressedHistograms": 0}


def read_run(folder):
    """The scalars, texts and graph of one folder of event files."""
    events = event_accumulator.EventAccumulator(folder, size_guidance=EVERYTHING)
    events.Reload()
    tags = events.Tags()
    scalars = {}
    for tag in tags["scalars"]:
        points = events.Scalars(tag)
        scalars[tag] = {
            "steps": [point.step for point in points],
            "values": [point.value if math.isfinite(point.value) else None for point in points],
        }
    nodes = 0
    if tags["graph"]:
        graph = events.Graph()
        assert isinstance(graph, graph_pb2.GraphDef)
        nodes = len(graph.node)
    texts = [tag for tag in tags["tensors"] if events.SummaryMetadata(tag).plugin_data.plugin_name == "text"]
    return {"scalars": scalars, "texts": texts, "graph": bool(tags["graph"]), "graph_nodes": nodes}


def main():
    if len(sys.argv) != 2 or not os.path.isdir(sys.argv[1]):
        sys.exit("check_events.py: error: no log folder. Name the folder that holds the event files")
    logdir = sys.argv[1]
    runs = {os.path.relpath(folder, logdir): read_run(folder) for folder in io_wrapper.GetLogdirSubdirectories(logdir)}
    print(json.dumps({"runs": runs}, sort_keys=True, allow_nan=False))


if __name__ == "__main__":
    main()
