// What a catalogue is made of.

/** A text, or one for each plural form that the language has. */
export type Text = string | { one?: string; two?: string; few?: string; many?: string; other: string };
