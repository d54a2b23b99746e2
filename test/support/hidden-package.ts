import Module from 'node:module'

/** Makes a package look as if it were not installed. Returns a function that ends this. */
export function hidePackage(hidden: string): () => void {
  const { _resolveFilename } = Module as unknown as {
    _resolveFilename: (name: string, ...rest: unknown[]) => string
  }
  Object.assign(Module, {
    _resolveFilename(name: string, ...rest: unknown[]) {
      if (name !== hidden && !name.startsWith(`${hidden}/`))
        return _resolveFilename.call(Module, name, ...rest)
      throw Object.assign(new Error('hidden'), { code: 'MODULE_NOT_FOUND' })
    },
  })
  return () => void Object.assign(Module, { _resolveFilename })
}
