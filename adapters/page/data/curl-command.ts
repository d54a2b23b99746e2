/** The text quoted as one word for a POSIX shell. */
export const shellQuote = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`

// Needs no quotes in a shell.
const PLAIN = /^[A-Za-z0-9_.@][A-Za-z0-9_.@-]*$/

/** A curl command for the URL. `-g` stops curl from globbing brackets; curl prompts for the password. */
export function curlLine(user: string | undefined, url: string): string {
  const login = user === undefined ? '' : `-u ${PLAIN.test(user) ? user : shellQuote(user)} `
  return `curl -g ${login}${shellQuote(url)}`
}
