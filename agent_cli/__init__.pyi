from agent_cli.compose.agent import Agent as Agent
from agent_cli.compose.agent import Reply as Reply
from agent_cli.compose.reductions import ContextStats as ContextStats
from agent_cli.engine.session import Session as Session
from agent_cli.engine.subtasks import SubtaskResult as SubtaskResult
from agent_cli.engine.subtasks import SubtaskSpec as SubtaskSpec
from agent_cli.kernel.errors import AgentError as AgentError
from agent_cli.kernel.errors import TurnInFlightError as TurnInFlightError

__version__: str
