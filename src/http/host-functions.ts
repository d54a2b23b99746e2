import { AuditLogError } from '../errors.js'

/**
 * Throws `INVALID_OPTION` unless each of these options is a function or absent. An option that is null or
 * false by mistake must not count as absent, because that would allow everything.
 */
export function checkHostFunctions<Options extends object>(
  options: Options,
  ...names: readonly (keyof Options & string)[]
): void {
  for (const name of names)
    if (options[name] !== undefined && typeof options[name] !== 'function')
      throw new AuditLogError('INVALID_OPTION', `${name} must be a function, or be left out`)
}
