import { text, wholeNumber } from '../attributes.js'
import type { Service } from '../service.js'
import { readNew } from './request.js'
import { sendJson } from './respond.js'
import { post, type Route } from './route.js'

/** Reports are computed by the API's workers. */
export const reportRoutes = ({ workers }: Service): Route[] => [
  post('/api/reports', async (ctx) => {
    const report = readNew(ctx, 'report', {
      text: text(),
      wait_ms: wholeNumber(0, 10_000, 0),
      keep_mb: wholeNumber(0, 500, 0),
    })
    const digest = await workers.compute(report)
    sendJson(ctx, { data: { type: 'report', id: digest, attributes: { digest } } })
  }),
]
