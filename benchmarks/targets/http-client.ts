import { quantile } from 'simple-statistics'
import autocannon from 'autocannon'
import { serveJobs } from '../harness/workers.js'

/* A process that sends requests with autocannon. */

export interface Job {
  readonly url: string
  /** Replaces the last `000000` of the URL by the number of the request. */
  readonly isNumbered?: boolean
  readonly connections: number
  readonly seconds: number
  readonly method: 'GET' | 'POST'
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
}

export interface Answer {
  /** The number of responses. */
  readonly responses: number
  readonly perSecond: number
  /** Milliseconds from a request to the end of its response. */
  readonly p50: number
  readonly p99: number
}

/** Gives each request of all connections its own path. */
function numbered(url: string): (request: autocannon.Request) => autocannon.Request {
  const { pathname, search } = new URL(url)
  const [before, after] = `${pathname}${search}`.split('000000')
  let number = 0
  return (request) => ({
    ...request,
    path: `${before}${String(number++ % 1_000_000).padStart(6, '0')}${after}`,
  })
}

async function load(job: Job): Promise<Answer> {
  const { url, isNumbered, connections, seconds, method, headers, body } = job
  const times: number[] = []
  // The first request of each connection waits until it is connected.
  let unmeasured = connections
  const result = await new Promise<autocannon.Result>((resolve, reject) => {
    const options = {
      url,
      connections,
      duration: seconds,
      method,
      headers,
      ...(body && { body }),
      ...(isNumbered && { requests: [{ setupRequest: numbered(url) }] }),
    }
    const running = autocannon(options, (error, result) =>
      error ? reject(error) : resolve(result),
    )
    running.on('response', (_client, _status, _bytes, time) => {
      if (unmeasured > 0) unmeasured--
      else times.push(time)
    })
  })
  const { errors, timeouts, non2xx } = result
  if (errors + timeouts + non2xx > 0)
    throw new Error(`${url}: ${errors} errors, ${timeouts} timeouts, ${non2xx} other statuses`)
  return {
    responses: result['2xx'],
    perSecond: result['2xx'] / result.duration,
    p50: quantile(times, 0.5),
    p99: quantile(times, 0.99),
  }
}

serveJobs(load)
