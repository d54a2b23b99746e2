import type { OptionNames } from '../options.js'

export interface UsernameOption<Request, User = string | null> {
  /**
   * The authenticated user of a request, or null.
   * @default `request.username`, as `basicAuth` sets it
   */
  username?(request: Request): User
}

export const USERNAME_OPTION: OptionNames<UsernameOption<unknown>> = { username: true }

export function usernameOf<Request extends object, User>(
  request: Request,
  options: UsernameOption<Request, User>,
): User | string | null {
  if (options.username) return options.username(request)
  const { username } = request as { readonly username?: unknown }
  return typeof username === 'string' ? username : null
}
