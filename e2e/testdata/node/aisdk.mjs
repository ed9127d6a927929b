// A plain agent made of Vercel's AI SDK: asks until the model calls no tool any more, in whole answers or, with
// "streamed", in streams, and prints the model's last words. It takes ANTHROPIC_BASE_URL and ANTHROPIC_API_KEY from the
// environment.
import { anthropic } from "@ai-sdk/anthropic";
import { generateText, stepCountIs, streamText, tool } from "ai";
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { z } from "zod";

const [task, model, mode] = process.argv.slice(2);

const tools = {
  bash: tool({
    description: "runs a command",
    inputSchema: z.object({ command: z.string() }),
    execute: async ({ command }) => {
      const { stdout, status } = spawnSync("sh", ["-c", command], { encoding: "utf8" });
      return `${stdout}\nexit status ${status}`;
    },
  }),
  read: tool({
    description: "reads a file",
    inputSchema: z.object({ path: z.string() }),
    execute: async ({ path }) => readFileSync(path, "utf8"),
  }),
  edit: tool({
    description: "replaces a text in a file",
    inputSchema: z.object({ path: z.string(), old: z.string(), now: z.string() }),
    execute: async ({ path, old, now }) => {
      writeFileSync(path, readFileSync(path, "utf8").replace(old, now));
      return "The file was changed.";
    },
  }),
  write: tool({
    description: "writes a file",
    inputSchema: z.object({ path: z.string(), content: z.string() }),
    execute: async ({ path, content }) => {
      writeFileSync(path, content);
      return "The file was written.";
    },
  }),
};

const request = {
  model: anthropic(model),
  system: "You work on a repository.",
  prompt: task,
  tools,
  stopWhen: stepCountIs(300),
  maxRetries: 0,
  onError: ({ error }) => { throw error; },
};
console.log(mode === "streamed" ? await streamText(request).text : (await generateText(request)).text);
