import { createRequire } from 'node:module'

/** The version of the installed package. */
export function readVersion(): string {
  const require = createRequire(import.meta.url)
  return (require('daybook/package.json') as { readonly version: string }).version
}
