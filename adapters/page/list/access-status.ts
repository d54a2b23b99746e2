import { computed } from '@preact/signals'
import { ApiError } from '../data/api.js'
import { failure } from './loading.js'

/** 401 if the user is not signed in, 403 if they may not read the log, else `undefined`. */
export const deniedStatus = computed(() => {
  const { value: error } = failure
  const isRefusal = error instanceof ApiError && (error.status === 401 || error.status === 403)
  return isRefusal ? error.status : undefined
})
