"""Addresses without a Ray; tests/e2e has a real one."""

import pytest

from automata.errors import UserError
from automata.tuning.ray_cluster import users_ray


@pytest.mark.parametrize("address", ["127.0.0.2:9", "127.0.0.2:99999"])
def test_an_address_that_nobody_answers_is_one_line(address, tmp_path):
    with (
        pytest.raises(UserError, match=f"^ray.address: {address}: .+$"),
        users_ray(address, tmp_path),
    ):
        pass
