/** One word to a POSIX shell, whatever it holds. */
export const shellQuote = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`

// As a word of its own a shell takes them as they are.
const PLAIN = /^[A-Za-z0-9_.@][A-Za-z0-9_.@-]*$/

/** The call as a line for a shell. `-g` keeps curl from reading brackets; it asks for the password. */
export function curlLine(user: string | undefined, url: string): string {
  const login = user === undefined ? '' : `-u ${PLAIN.test(user) ? user : shellQuote(user)} `
  return `curl -g ${login}${shellQuote(url)}`
}
