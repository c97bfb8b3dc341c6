"""How a pipeline runs: small picklable requests, workers that fulfil them, stages that keep their order."""
