import type { Credentials } from '../feed/address.js'
import type { AskCredentials } from '../feed/client.js'
import { ask, canAsk } from '../terminal/ask.js'
import type { Terminal } from '../terminal/terminal.js'

/** Prompts for the user and the password of a feed, unless they are known. */
export function askCredentials(address: string, terminal: Terminal): AskCredentials {
  return async ({ user }: Credentials) => {
    if (!canAsk(terminal)) return undefined
    const name = user ?? (await ask(terminal, `user for ${address}: `))
    const password = await ask(terminal, `password of ${name}: `, { isSecret: true })
    return { user: name, password }
  }
}
