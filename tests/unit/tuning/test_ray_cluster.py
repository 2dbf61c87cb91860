"""What is checked of a Ray cluster without one; tests/e2e has a real one."""

import socket
from types import SimpleNamespace

import pytest
import torch

from automata.config.machine import Compute
from automata.errors import UserError
from automata.records import Node
from automata.tuning.ray_cluster import join_cluster, room, usable_gpus, with_trials

CPU = torch.device("cpu")


@pytest.mark.parametrize(
    ("nodes", "threads", "share", "trials"),
    [
        ([{"CPU": 4.0}], 1, 0, 4),
        ([{"CPU": 1.0}, {"CPU": 1.0}], 1, 0, 2),
        ([{"CPU": 1.0}, {"CPU": 1.0}], 2, 0, 0),
        ([{"CPU": 3.0}, {"CPU": 5.0}], 2, 0, 3),
        ([{}, {"CPU": 2.0}], 1, 0, 2),
        ([{"CPU": 8.0, "GPU": 1.0}], 1, 1, 1),
        ([{"CPU": 8.0, "GPU": 1.0}], 1, 1 / 3, 3),
        ([{"CPU": 8.0, "GPU": 2.0}], 1, 0.4, 4),
        ([{"CPU": 8.0, "GPU": 1.0}, {"CPU": 8.0}], 1, 0.5, 2),
        ([{"CPU": 1.0, "GPU": 4.0}, {"CPU": 2.0, "GPU": 1.0}], 1, 1, 2),
    ],
)
def test_room_is_counted_node_by_node(nodes, threads, share, trials):
    assert room(nodes, threads, share) == trials


def test_an_address_that_nobody_answers_is_one_line(tmp_path):
    with socket.socket() as free:
        free.bind(("127.0.0.2", 0))  # nobody listens
        address = f"127.0.0.2:{free.getsockname()[1]}"
        with pytest.raises(UserError) as error:
            join_cluster(address, Compute(), CPU, tmp_path, tmp_path)
    assert str(error.value) == (
        f"ray.address: {address}: no Ray cluster answers: [Errno 111] Connection refused"
    )


def test_a_port_out_of_range_is_one_line(tmp_path):
    with pytest.raises(UserError, match=r"127\.0\.0\.2:99999: no Ray cluster answers: "):
        join_cluster("127.0.0.2:99999", Compute(), CPU, tmp_path, tmp_path)


@pytest.mark.parametrize(
    ("device", "wanted", "nodes", "gpus"),
    [
        ("cpu", True, [{"CPU": 1.0}], 0),
        ("cuda", True, [{"GPU": 2.0}, {"GPU": 1.0}, {}], 3),
        ("cpu", False, [{"GPU": 1.0}], 0),
    ],
)
def test_gpus_are_those_of_all_nodes(device, wanted, nodes, gpus):
    assert usable_gpus("head:6379", wanted, torch.device(device), nodes) == gpus


@pytest.mark.parametrize(
    ("device", "nodes", "expected"),
    [
        ("cpu", [{"GPU": 1.0}, {"GPU": 2.0}], "its nodes have 3 GPUs and this host has none: "),
        ("cuda", [{"CPU": 1.0}], "its nodes have no GPUs and this host has one: "),
    ],
)
def test_trials_and_final_training_on_different_devices_are_refused(device, nodes, expected):
    with pytest.raises(UserError, match=f"^ray.address: head:6379: {expected}"):
        usable_gpus("head:6379", True, torch.device(device), nodes)


def test_a_trial_that_moves_counts_for_both_of_its_nodes_and_one_that_is_gone_comes_last():
    nodes = {
        f"10.0.0.{number}": Node(name=f"n{number}", host="h", cpu="c", resources={}, trials=[])
        for number in (1, 2)
    }
    told = [(0, 1), (1, 2), (0, 2), (0, 2), (2, 9)]
    results = [SimpleNamespace(index=index, node=f"10.0.0.{number}") for index, number in told]
    cluster = with_trials("head:6379", nodes, results)
    assert [(node.name, node.trials) for node in cluster.nodes] == [
        ("n1", [0]),
        ("n2", [0, 1]),
        ("10.0.0.9", [2]),
    ]
    assert cluster.nodes[-1].cpu == "gone"
