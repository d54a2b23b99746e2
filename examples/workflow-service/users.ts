/** Passwords by user name. A real service asks its directory. */
export const USERS: Readonly<Record<string, string>> = { ann: 'ann', bob: 'bob', eve: 'eve' }

const EDITORS: ReadonlySet<string> = new Set(['ann', 'bob'])

/** Who approves where a step does not say. */
export const APPROVERS: readonly string[] = ['ann']

export const mayChange = (username: string): boolean => EDITORS.has(username)
