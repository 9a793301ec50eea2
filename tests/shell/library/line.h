/* The error of y = 3 a - b at a point; negative where the model cannot be called. */
#ifdef __cplusplus
extern "C"
#endif
float line_error(float a, float b, float y);
