"""The build copies the studies and their finished cells into the package; everything else is in pyproject.toml."""

from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

PLACE = Path("untwine", "study", "published")  # untwine/study/published.py reads it


class BuildWithStudies(build_py):
    """Copy `studies/` beside the modules, so that an installed package has it without a second copy in the repository."""

    def run(self) -> None:
        """Copy the modules, and then the studies; an editable install reads them where they are."""
        super().run()
        if not self.editable_mode:
            for source, target in self._studies():
                self.mkpath(str(target.parent))
                self.copy_file(str(source), str(target))

    def get_outputs(self, include_bytecode: bool = True) -> list[str]:
        """Return the files that the build makes."""
        return [*super().get_outputs(include_bytecode), *(str(target) for _, target in self._studies())]

    def _studies(self) -> list[tuple[Path, Path]]:
        root = Path("studies")
        sources = sorted([*root.glob("*.toml"), *root.glob("results/*.csv")])
        return [(source, Path(self.build_lib) / PLACE / source.relative_to(root)) for source in sources]


setup(cmdclass={"build_py": BuildWithStudies})
