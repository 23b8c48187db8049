"""Who may see what. Every question of that kind is answered here and nowhere else."""

LOCAL = "local"  # the owner of everything in single-user mode


def may_see(owner: str, user: str) -> bool:
    """Whether `user` may see what belongs to `owner`."""
    return owner == user
