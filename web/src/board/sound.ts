// The sounds of seeds. Made here, so nothing is loaded; off unless the settings say otherwise.

import { settings } from "../state/settings.ts";

let context: AudioContext | undefined;

/** A knock, as of a seed on wood: `sow`, lower for `capture`. */
export function knock(kind: "sow" | "capture"): void {
  if (!settings.value.sound) return;
  context ??= new AudioContext();
  const [oscillator, gain] = [context.createOscillator(), context.createGain()];
  const start = context.currentTime;
  oscillator.type = "triangle";
  oscillator.frequency.setValueAtTime(kind === "sow" ? 520 + Math.random() * 90 : 240, start);
  oscillator.frequency.exponentialRampToValueAtTime(kind === "sow" ? 180 : 90, start + 0.06);
  gain.gain.setValueAtTime(kind === "sow" ? 0.12 : 0.22, start);
  gain.gain.exponentialRampToValueAtTime(0.001, start + 0.09);
  oscillator.connect(gain).connect(context.destination);
  oscillator.start(start);
  oscillator.stop(start + 0.1);
}
