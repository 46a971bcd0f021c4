import { en } from "./en.ts"; export const fr = en;
