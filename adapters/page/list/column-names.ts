/** The columns in their order. */
export const COLUMNS = ['time', 'level', 'who', 'what', 'type', 'source'] as const

/** A column of the list's own, or a dot with the name of an attribute. */
export type Column = (typeof COLUMNS)[number] | 'log_key' | `.${string}`
