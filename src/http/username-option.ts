import type { OptionNames } from '../options.js'

export interface UsernameOption<Context, User = string | null> {
  /**
   * The authenticated user of a request, or null.
   * @default the user that `basicAuth` has found: `request.username`, on Koa `ctx.state.username`, on Hono `context.get('username')`
   */
  username?(request: Context): User
}

export const USERNAME_OPTION: OptionNames<UsernameOption<unknown>> = { username: true }

/** The user that `basicAuth` of a framework has found, if it has found one. */
export type FoundUser<Context> = (context: Context) => unknown

const ofRequest = (request: object): unknown =>
  (request as { readonly username?: unknown }).username

export function usernameOf<Context extends object, User>(
  context: Context,
  options: UsernameOption<Context, User>,
  found: FoundUser<Context> = ofRequest,
): User | string | null {
  if (options.username) return options.username(context) || null
  const username = found(context)
  return typeof username === 'string' ? username : null
}
