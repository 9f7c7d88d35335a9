"""The build copies the studies, their finished cells and the documentation into the package; all else is in pyproject.toml."""

from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

PLACE = Path("untwine", "study", "published")  # untwine/study/published.py reads it
PAGES = Path("untwine", "pages")  # untwine/cli/pages.py finds it


class BuildWithStudies(build_py):
    """Copy `studies/` and `docs/` beside the modules: an installed package has them without a second copy in the repository."""

    def run(self) -> None:
        """Copy the modules, then the studies and the pages; an editable install reads them where they are."""
        super().run()
        if not self.editable_mode:
            for source, target in (*self._studies(), *self._pages()):
                self.mkpath(str(target.parent))
                self.copy_file(str(source), str(target))

    def get_outputs(self, include_bytecode: bool = True) -> list[str]:
        """Return the files that the build makes."""
        return [*super().get_outputs(include_bytecode), *(str(target) for _, target in (*self._studies(), *self._pages()))]

    def _studies(self) -> list[tuple[Path, Path]]:
        root = Path("studies")
        sources = sorted([*root.glob("*.toml"), *root.glob("results/*.csv")])
        return [(source, Path(self.build_lib) / PLACE / source.relative_to(root)) for source in sources]

    def _pages(self) -> list[tuple[Path, Path]]:
        """Return the Markdown of the documentation, and the built site where `make docs` has made one."""
        place = Path(self.build_lib) / PAGES
        text = [(source, place / source.relative_to("docs")) for source in sorted(Path("docs").rglob("*.md"))]
        built = [source for source in sorted(Path("site").rglob("*")) if source.is_file()]
        return text + [(source, place / source) for source in built]


setup(cmdclass={"build_py": BuildWithStudies})
