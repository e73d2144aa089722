"""A language model operates KAlgebra, through any server that speaks the OpenAI chat protocol.

python examples/llm_agent.py --url http://127.0.0.1:8000/v1 --model my-model
python examples/llm_agent.py            # without a server: a scripted reply, to see the loop run
"""

import argparse
import json
import os
import urllib.request

import gymnasium as gym

import sci_gym  # noqa: F401  (registers the environments)
from sci_gym.wrappers import ChatMessages, PyAutoGuiText

parser = argparse.ArgumentParser()
parser.add_argument("--url", help="base URL of the server")
parser.add_argument("--model", default="default")
parser.add_argument("--task", default="kinetic-energy")
options = parser.parse_args()


def ask_server(messages: list[dict]) -> str:
    """One completion."""
    body = json.dumps({"model": options.model, "messages": messages}).encode()
    headers = {"Content-Type": "application/json", "Authorization": f"Bearer {os.environ.get('API_KEY', '')}"}
    request = urllib.request.Request(f"{options.url}/chat/completions", body, headers)
    with urllib.request.urlopen(request, timeout=120) as answer:
        return json.load(answer)["choices"][0]["message"]["content"]


def scripted(messages: list[dict]) -> str:
    """What a model might say first: it computes something, and gives up."""
    return "pyautogui.write('2+3\\n')" if len(messages) < 4 else "FAIL"


env = gym.make("SciBoard-KAlgebra-v0", task=options.task, observation="som", max_episode_steps=15)
env = ChatMessages(PyAutoGuiText(env), images=2)
env.reset(seed=0)
terminated = truncated = False
while not (terminated or truncated):
    reply = ask_server(env.messages()) if options.url else scripted(env.messages())
    print(f"model: {reply}")
    _, reward, terminated, truncated, info = env.step_text(reply)
    print(f"  reward {reward:+.2f}, coverage {info['coverage_rate']:.2f}")
print("success:", info["success"])
env.close()
