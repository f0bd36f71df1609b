// What a renderer is made from: plain data, filled by Python (scene.py has the same structures).
// Lengths in m, colours linear. Poses are rows of 3x4 matrices.
#pragma once

#include <cstdint>

struct Part {  // triangles of one material on one link
    int32_t first_vertex, vertices, first_triangle, triangles;
    int32_t link, material;
    int32_t moves;         // whether the link moves; what does not is drawn once
    int32_t casts_shadow;
    int32_t double_sided;  // otherwise only the side from which it is counter-clockwise is visible
};

struct Material {
    float color[3], roughness, metallic;
    int32_t texture;  // index, or -1: one colour
};

struct Texture {  // levels of decreasing size one after another, four bytes (RGBA) per texel
    int32_t first_texel, width, height, levels;
    float linear[256];  // linear value of each byte
};

struct DirectionalLight {
    float direction[3];  // unit vector towards the light
    float color[3];
};

struct PointLight {
    float position[3];
    float color[3];  // at a distance of 1 m
};

struct Camera {
    float pose[12];  // of the optical frame (x right, y down, z forward) in the link's frame
    int32_t link;    // -1: the world
    int32_t fixed;   // whether the link does not move
    int32_t width, height;
    float focal, center_x, center_y;  // pixels; integer coordinates are pixel centres
    float near, far;
};

struct Scene {
    int32_t parts, materials, textures, links, vertices, triangles, texels;
    int32_t directional_lights, point_lights, cameras;
    const Part* part;
    const Material* material;
    const Texture* texture;
    const float *x, *y, *z, *nx, *ny, *nz, *u, *v;  // of the vertices, in the link's frame
    const int32_t* corner;                          // three per triangle, counted within the part
    const uint8_t* texel;
    const DirectionalLight* directional_light;  // the first casts shadows
    const PointLight* point_light;
    const Camera* camera;
    float ambient[3];
    float shadow[12];  // world to shadow map: column, row (texels), depth (m)
    int32_t shadow_size;
};
