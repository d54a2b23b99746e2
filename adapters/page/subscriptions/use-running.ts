import { type Running, useRunningWith } from '../managing/running.js'
import { refresh } from './loading.js'

/** Runs requests, and loads subscriptions and channels again after each. */
export const useRunning = (): Running => useRunningWith(refresh)
