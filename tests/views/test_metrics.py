"""What metrics are called."""

from headatlas.views.metrics import metric


def test_metrics_have_names_units_and_axes():
    assert metric("margin").change == "Change of margin (nats)"
    assert metric("logprob").change == "Change of log-probability (nats)"
    assert metric("accuracy").change == "Change of accuracy"
    assert metric("cpr").label == "CPR"
    assert metric("my_metric").label == metric("my_metric").short == "my metric"
