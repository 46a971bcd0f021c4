// The question who the player is, where the server wants more than a token. A dialog shows it: parts/confirm.tsx.

import type { Confirmation } from "@mancala-server/client";
import { signal } from "@preact/signals";

type Answer = (answer: Confirmation | null) => void;

/** Takes the answer to the question that is shown; null while there is none. */
export const question = signal<Answer | null>(null);

/** Asks for the password. An account always has one; a guest is never asked. */
export function askWho(): Promise<Confirmation | null> {
  return new Promise((resolve) => {
    const answer: Answer = (value) => {
      if (question.value === answer) question.value = null;
      resolve(value);
    };
    question.value = answer;
  });
}
