import type { TestProject } from 'vitest/node'
import { makeTemplate, startPostgres } from './postgres.js'

declare module 'vitest' {
  interface ProvidedContext {
    readonly postgresUrl: string
  }
}

/**
 * One server for all test files; each creates its own databases. Files that need a server for themselves start a copy
 * of its cluster.
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const removeTemplate = makeTemplate()
  const { url, stop } = await startPostgres()
  project.provide('postgresUrl', url)
  return async () => {
    await stop()
    removeTemplate()
  }
}
