"""What gpu_proof.py and bench_gpu.py share: Python's standard library only."""
