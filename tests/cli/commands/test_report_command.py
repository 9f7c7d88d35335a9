"""`untwine report`: a page about the run."""

from command_line import run


def test_report_is_a_page_about_the_run(evaluated, tmp_path, capsys):
    run("report", evaluated, "--out", tmp_path / "page.html")
    assert capsys.readouterr().out.strip() == str(tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text()
    assert "principled_vae" in page
    assert "toy_contrast" in page
    assert "http://" not in page.replace("http://www.w3.org", "")
    run("report", evaluated)
    assert (evaluated / "report.html").exists()
