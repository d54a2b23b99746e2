import { pathToFileURL } from 'node:url'

const { url }: { readonly url?: string } = import.meta

/**
 * The URL of the file that contains this module, for resolving packages. A bundler may have put it into
 * a file in CommonJS, which has `__filename` instead of `import.meta.url`. A worker has neither, and no packages.
 */
export const moduleUrl: string =
  url ?? (typeof __filename === 'string' ? pathToFileURL(__filename).href : 'file:///')
