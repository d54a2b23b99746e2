import http from 'node:http'
import type { AddressInfo } from 'node:net'
import type { BrowserServer } from 'playwright-core'
import type { TestProject } from 'vitest/node'
import { startBrowser } from './start-browser.js'

declare module 'vitest' {
  interface ProvidedContext {
    /** Answers with the endpoint of the run's browser. */
    readonly browserUrl: string
  }
}

/** One browser for all test files. It is started when the first test needs it. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  let browser: Promise<BrowserServer> | undefined
  const server = http.createServer((_request, response) => {
    browser ??= startBrowser()
    // A worker that was busy for seconds would otherwise reuse a closed connection.
    response.setHeader('connection', 'close')
    browser.then(
      (started) => response.end(started.wsEndpoint()),
      (error: unknown) => response.writeHead(500).end(String(error)),
    )
  })
  server.listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  project.provide('browserUrl', `http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  return async () => {
    const closed = new Promise((resolve) => server.close(resolve))
    server.closeAllConnections()
    const started = await browser?.catch(() => undefined)
    await Promise.all([closed, started?.close()])
  }
}
