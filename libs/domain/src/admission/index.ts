export {
  admit,
  newcomer,
  replayAdmission,
  type AdmissionSettings,
  type AdmitLine,
  type SessionAdmission,
  type SkipReason,
} from './admission.js';
