// Lights and shadow maps. The renderer requires declarations of all four kinds of light; the pack
// supports directional and point lights, and a shadow of one directional light.
struct PointLight {
  vec4 position;
  vec4 emission;
};

struct DirectionalLight {
  vec4 direction;
  vec4 emission;
};

struct SpotLight {
  vec4 position;
  vec4 direction;
  vec4 emission;
};

struct LightBuffer {
  mat4 viewMatrix;
  mat4 viewMatrixInverse;
  mat4 projectionMatrix;
  mat4 projectionMatrixInverse;
  int width;
  int height;
};

layout(set = SCENE_SET, binding = 0) uniform SceneBuffer {
  vec4 ambientLight;
  PointLight pointLights[10];
  DirectionalLight directionalLights[3];
  SpotLight spotLights[1];
  SpotLight texturedLights[1];
} sceneBuffer;

layout(set = SCENE_SET, binding = 1) uniform ShadowBuffer {
  LightBuffer pointLightBuffers[6];
  LightBuffer directionalLightBuffers[1];
  LightBuffer spotLightBuffers[1];
  LightBuffer texturedLightBuffers[1];
} shadowBuffer;

layout(set = SCENE_SET, binding = 2) uniform samplerCube samplerPointLightDepths[1];
layout(set = SCENE_SET, binding = 3) uniform sampler2D samplerDirectionalLightDepths[1];
layout(set = SCENE_SET, binding = 4) uniform sampler2D samplerSpotLightDepths[1];
layout(set = SCENE_SET, binding = 5) uniform sampler2D samplerTexturedLightDepths[1];
layout(set = SCENE_SET, binding = 6) uniform sampler2D samplerTexturedLightTextures[1];
