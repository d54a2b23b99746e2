/** Kinds without a singular. */
export const PLURAL_ONLY_KINDS: ReadonlySet<string> = new Set([
  'settings',
  'properties',
  'statistics',
])

/** `git_remotes` -> `git_remote`. */
export function singular(plural: string): string {
  if (PLURAL_ONLY_KINDS.has(plural)) return plural
  if (plural.endsWith('ies')) return `${plural.slice(0, -3)}y`
  if (/(?:ch|sh|ss|us|x)es$/.test(plural)) return plural.slice(0, -2)
  return /(?:ss|us|is)$/.test(plural) ? plural : plural.replace(/s$/, '')
}
