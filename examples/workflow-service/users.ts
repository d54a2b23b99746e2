/** Passwords by user name. A real service has a user directory. */
export const USERS: Readonly<Record<string, string>> = { ann: 'ann', bob: 'bob', eve: 'eve' }

const EDITORS: ReadonlySet<string> = new Set(['ann', 'bob'])

/** The approvers of steps that name none. */
export const APPROVERS: readonly string[] = ['ann']

export const mayChange = (username: string): boolean => EDITORS.has(username)
