/** An address such as `sqlite:audit.db` would become the name of a new file. */
const ADDRESS = /^(?:[a-z][a-z\d+.-]+:\/\/|sqlite:|file:)/i

/** True for the path of a file. */
export const isFilePath = (filename: unknown): filename is string =>
  typeof filename === 'string' &&
  filename !== '' &&
  filename !== ':memory:' &&
  !ADDRESS.test(filename)
