import { list, text } from '../attributes.js'
import type { Service } from '../service.js'
import { deferIn, readNew } from './request.js'
import { sendNothing } from './respond.js'
import { post, type Route } from './route.js'

/** Runs cleaning rules at once. Events report the results. */
export const cleaningRoutes = (service: Service): Route[] => [
  post('/api/cleaning_runs', (ctx) => {
    const { rules } = readNew(ctx, 'cleaning_run', { rules: list(text()) })
    deferIn(ctx)(() => service.clean(rules))
    sendNothing(ctx)
  }),
]
