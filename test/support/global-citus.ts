import type { TestProject } from 'vitest/node'
import { startCitus } from './citus.js'

declare module 'vitest' {
  interface ProvidedContext {
    readonly citusUrl: string
    readonly citusNodes: readonly string[]
  }
}

/** One cluster for all test files of `npm run test:citus`. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const { url, nodes, stop } = await startCitus()
  project.provide('citusUrl', url)
  project.provide('citusNodes', nodes)
  return stop
}
