import compile from './global-compiled.js'

interface CompiledFolder {
  /** With the sources as JavaScript, at the same relative paths. */
  readonly folder: string
  remove(): Promise<void>
}

/** Compiles the sources for a script that vitest does not run. */
export async function compileSources(): Promise<CompiledFolder> {
  let folder = ''
  const provide = (_: string, compiled: string): void => void (folder = compiled)
  const remove = await compile({ provide } as unknown as Parameters<typeof compile>[0])
  return { folder, remove }
}
