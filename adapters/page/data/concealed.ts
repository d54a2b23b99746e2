import { ApiError } from './api.js'

/** The name that the service does not show to this user, or keeps encrypted, by its answer to a request that named it. */
export function concealedIn(error: Error | undefined): string | undefined {
  const { code = '', detail = '' } = (error instanceof ApiError && error.problem) || {}
  const [name] = (/^(UNKNOWN|SEALED)_ATTRIBUTE$/.test(code) && /"(\\.|[^"])*"/.exec(detail)) || []
  return name && (JSON.parse(name) as string)
}
