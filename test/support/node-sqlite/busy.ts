import { defaultDriver } from '../../../adapters/sqlite/connection/driver.js'

/** The part of a lock error of the driver by which it is recognized. */
export const BUSY = defaultDriver() === 'node:sqlite' ? { errcode: 5 } : { code: 'SQLITE_BUSY' }
