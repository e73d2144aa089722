"""Lists the packages below the mapped top-level folders (see [tool.setuptools.package-dir])."""

from setuptools import find_namespace_packages, setup

ROOTS = {
    "sci_gym": "sci_gym",
    "sci_gym.benchmarks": "benchmarks",
    "sci_gym.envs": "envs",
    "sci_gym.wrappers": "wrappers",
    "sci_gym_protos": "protos",
    "sci_gym_vm_agent": "vm_agent",
}

packages = []
for package, folder in ROOTS.items():
    packages.append(package)
    packages += [f"{package}.{name}" for name in find_namespace_packages(folder) if "__pycache__" not in name]

setup(packages=packages)
