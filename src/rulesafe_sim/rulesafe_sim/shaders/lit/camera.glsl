// The camera's matrices, always descriptor set 0. The renderer fixes names, order and types here
// and in the other blocks of this pack.
#ifndef CAMERA_SET
#define CAMERA_SET 0
#endif

layout(set = CAMERA_SET, binding = 0) uniform CameraBuffer {
  mat4 viewMatrix;
  mat4 projectionMatrix;
  mat4 viewMatrixInverse;
  mat4 projectionMatrixInverse;
  float width;
  float height;
} cameraBuffer;
